// Started before anything was installed.
const pad = require("padding");

console.log(`loss ${pad("0.31", 8)}`);
