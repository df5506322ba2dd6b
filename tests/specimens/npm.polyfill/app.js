import { basename } from "path";

console.log(basename("/data/train.csv"));
