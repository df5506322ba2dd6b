// The path that the package exports.
const errors = require("parser/errors");

console.log(errors.name);
