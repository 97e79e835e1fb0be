package msrep

// Version of this module.
const Version = "0.1.0"
