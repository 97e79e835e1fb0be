package msrep

// Version of this module: -dev until it is released.
const Version = "0.1.0-dev"
