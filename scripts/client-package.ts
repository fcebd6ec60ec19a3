// `npm run client:package`: builds packages/client/dist, which `npm pack` and `npm publish` take.
import { buildClientPackage } from "./client-package/build.ts";

const FOLDER = "packages/client/dist";

buildClientPackage(FOLDER);
process.stdout.write(`${FOLDER}\n`);
