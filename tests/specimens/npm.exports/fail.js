// A file inside the package was reachable before it listed its exports.
const errors = require("parser/lib/errors");

console.log(errors.name);
