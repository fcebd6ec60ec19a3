// `npm run docs:capacity`: renews the measured figures in docs/operations.md.
import { writeFileSync } from "node:fs";
import { CAPACITY_PAGE, renewCapacityPage } from "./capacity-docs/section.ts";

writeFileSync(CAPACITY_PAGE, renewCapacityPage());
process.stdout.write(`${CAPACITY_PAGE} is renewed\n`);
