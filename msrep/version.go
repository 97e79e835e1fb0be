package msrep

// Version is the version of this module. It ends in -dev before a release.
const Version = "0.1.0-dev"
