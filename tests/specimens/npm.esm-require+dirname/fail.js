// The project was made an ES module, where CommonJS's names do not exist.
import { join } from "node:path";

console.log(join(__dirname, "data").endsWith("data"));
