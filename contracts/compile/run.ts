// Compiles the contracts and writes contracts/generated (npm run compile).
import { compileWithCache } from "./compile-cache.ts";
import { renderGenerated, writeGenerated } from "./generated-files.ts";

// The largest contract a chain accepts, in bytes (EIP-170).
const runtimeBytesMax = 24_576;

async function run(): Promise<void> {
  const startedAt = performance.now();
  process.stdout.write("Compiling contracts/src …\n");
  const { contracts, sourceHash, fromCache } = await compileWithCache();
  const tooLarge = contracts.filter(({ runtimeBytes }) => runtimeBytes > runtimeBytesMax);
  if (tooLarge.length > 0) {
    throw new Error(`larger than ${runtimeBytesMax} bytes: ${tooLarge.map(({ name }) => name).join(", ")}`);
  }
  writeGenerated(renderGenerated(contracts, sourceHash));
  for (const { name, runtimeBytes, file } of contracts) {
    process.stdout.write(
      `  ${name.padEnd(22)}${String(runtimeBytes).padStart(6)} bytes  contracts/${file}\n`,
    );
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const origin = fromCache ? "from the cache" : "compiled";
  process.stdout.write(`${contracts.length} contracts ${origin} in ${seconds} s → contracts/generated\n`);
}

try {
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
