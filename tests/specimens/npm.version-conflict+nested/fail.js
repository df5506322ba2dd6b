// A package that was written for lodash 3 gets the application's lodash 4.
const ranking = require("ranking");

console.log(ranking([{ name: "b", loss: 2 }, { name: "a", loss: 1 }]).join());
