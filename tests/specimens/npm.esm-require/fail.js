// The package's newest major version is an ES module that waits for something while it loads: require() cannot.
const shout = require("shout");

console.log(shout.default("epoch done"));
