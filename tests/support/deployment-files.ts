// Files of deployments in a folder of their own, for commands that read them.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Deployment } from "../../src/protocol/deployment.ts";

export class DeploymentFiles {
  readonly #folder: string;
  #count = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<DeploymentFiles> {
    return new DeploymentFiles(await mkdtemp(join(tmpdir(), "sextant-deployments-")));
  }

  /** The path of the file. */
  async write(deployment: Deployment): Promise<string> {
    this.#count += 1;
    const path = join(this.#folder, `${this.#count}.json`);
    await writeFile(path, JSON.stringify(deployment));
    return path;
  }

  /** A path without a file. */
  get missing(): string {
    return join(this.#folder, "missing.json");
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true });
  }
}
