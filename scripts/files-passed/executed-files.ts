// The files of a folder in which functions ran during some work, by the precise coverage of V8.
import { type Profiler, Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";

type ExecutedFiles = {
  /** The files below the folder in which a function ran meanwhile, sorted. */
  during(work: () => Promise<unknown>): Promise<readonly string[]>;
  close(): void;
};

export async function watchExecutedFiles(folder: URL): Promise<ExecutedFiles> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  // Each reading sets the counts back to zero.
  const read = async () => (await session.post("Profiler.takePreciseCoverage")).result;
  return {
    async during(work) {
      await read();
      await work();
      const scripts = (await read()).filter(
        ({ url, functions }) => url.startsWith(folder.href) && functions.some(hasRun),
      );
      const start = fileURLToPath(folder).length;
      return [...new Set(scripts.map(({ url }) => fileURLToPath(url).slice(start)))].sort();
    },
    close: () => session.disconnect(),
  };
}

/** The body of a module counts as a function that begins with its first character: it runs when the module is loaded. */
function hasRun({ ranges }: Profiler.FunctionCoverage): boolean {
  return ranges.some(({ startOffset, count }) => startOffset > 0 && count > 0);
}
