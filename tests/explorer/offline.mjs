// Answers questions about an exported page as the page does: `node offline.mjs PAGE MODULE`, questions as JSON on stdin.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [page, module] = process.argv.slice(2);
const { offline } = await import(pathToFileURL(module).href);
const [, data] = /id="ckpt-viz-data">(.*?)<\/script>/s.exec(readFileSync(page, "utf8"));
const desk = offline(JSON.parse(data));
const questions = JSON.parse(readFileSync(0, "utf8"));
const answers = questions.map((one) => {
  try {
    return desk.answer(one, one.at ?? "");
  } catch (error) {
    return { error: String(error.message) };
  }
});
process.stdout.write(JSON.stringify(answers));
