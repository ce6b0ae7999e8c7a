package agent

// PlainJSON is for the tests, which are outside of the package to have the clients.
var PlainJSON = plainJSON
