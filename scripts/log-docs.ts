// `npm run docs:logs`: renews the list of log events in docs/operations.md.
import { writeFileSync } from "node:fs";
import { openRepository } from "../tests/architecture/repository.ts";
import { LOG_PAGE, renewLogPage } from "../tests/architecture/rules/log-lines.ts";

const repository = openRepository(".");
const after = renewLogPage(repository);
writeFileSync(LOG_PAGE, after);
process.stdout.write(
  `${LOG_PAGE} ${repository.text(LOG_PAGE) === after ? "is up to date" : "was updated"}\n`,
);
