package post

// longest is how long the path of a socket may be to be told to the kernel as it
// is. Linux has room for 108 bytes, others for a few less.
const longest = 100
