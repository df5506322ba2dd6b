// Written on a file system that does not tell upper from lower case.
const scale = require("./lib/scale");

console.log(`scaled ${scale(21)}`);
