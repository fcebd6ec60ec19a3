// npm run compile: writes contracts/generated and the compiled helper contracts; with --check compares them instead.
import { parseArgs } from "node:util";
import { compileWithCache } from "./compile-cache.ts";
import { type CompiledContract, compileContracts } from "./compile-contracts.ts";
import { areActorsEqual, compileActors, writeCompiledActors } from "./compiled-actors.ts";
import { hashSources } from "./compiler-settings.ts";
import { findGeneratedDifferences, renderGenerated, writeGenerated } from "./generated-files.ts";
import { readOwnSources } from "./source-files.ts";

// The largest contract a chain accepts, in bytes (EIP-170).
const runtimeBytesMax = 24_576;

async function write(): Promise<void> {
  const startedAt = performance.now();
  process.stdout.write("Compiling contracts/src …\n");
  const { contracts, sourceHash, fromCache } = await compileWithCache();
  requireDeployableSize(contracts);
  writeGenerated(renderGenerated(contracts, sourceHash));
  writeCompiledActors(await compileActors());
  for (const { name, runtimeBytes, file } of contracts) {
    process.stdout.write(
      `  ${name.padEnd(22)}${String(runtimeBytes).padStart(6)} bytes  contracts/${file}\n`,
    );
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const origin = fromCache ? "from the cache" : "compiled";
  process.stdout.write(`${contracts.length} contracts ${origin} in ${seconds} s → contracts/generated\n`);
}

/** Always runs the compiler: a cached output would prove nothing about the committed files. */
async function check(): Promise<void> {
  const sources = readOwnSources();
  const contracts = await compileContracts(sources);
  requireDeployableSize(contracts);
  const different = findGeneratedDifferences(renderGenerated(contracts, hashSources(sources))).map(
    (name) => `contracts/generated/${name}`,
  );
  if (!areActorsEqual(await compileActors())) different.push("contracts/test/actors/compiled.json");
  if (different.length > 0) throw new Error(`not what the compiler writes: ${different.join(", ")}`);
  process.stdout.write(`${contracts.length} contracts equal the compiler's output to the byte\n`);
}

function requireDeployableSize(contracts: readonly CompiledContract[]): void {
  const tooLarge = contracts.filter(({ runtimeBytes }) => runtimeBytes > runtimeBytesMax);
  if (tooLarge.length > 0) {
    throw new Error(`larger than ${runtimeBytesMax} bytes: ${tooLarge.map(({ name }) => name).join(", ")}`);
  }
}

try {
  const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
  await (values.check ? check() : write());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
