// The Solidity compiler, loaded on use: it takes a second to start.

type Solc = {
  version(): string;
  /** Standard JSON in and out. */
  compile(
    input: string,
    callbacks: { import(path: string): { contents: string } | { error: string } },
  ): string;
};

export async function loadSolc(): Promise<Solc> {
  const { default: solc } = await import("solc");
  return solc as Solc;
}
