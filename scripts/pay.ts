// `npm run pay -- 0x…`: pays for a portfolio snapshot as any x402 client would, and prints it.
import { runPayCommand } from "./pay/run-pay.ts";

const { out, err, code } = await runPayCommand({
  argv: process.argv.slice(2),
  environment: process.env,
  localFile: ".sextant/local.json",
});
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = code;
