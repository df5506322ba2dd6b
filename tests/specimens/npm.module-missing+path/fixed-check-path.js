// The name as it stands on the disk.
const scale = require("./lib/Scale");

console.log(`scaled ${scale(21)}`);
