// The folder, from the module's own address.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const __dirname = dirname(fileURLToPath(import.meta.url));
console.log(join(__dirname, "data").endsWith("data"));
