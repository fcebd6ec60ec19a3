// The explorer over a copy of the history that all files share, with the example of every page.
import { EXPLORER_PATH } from "../../src/explorer/context.ts";
import type { Page } from "../../src/explorer/page.ts";
import { pages } from "../../src/explorer/pages.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { createTestDatabase } from "../support/database/test-database.ts";
import { startTestApi } from "../support/http/test-api.ts";
import { openTestConnection } from "../support/index/empty-index.ts";
import { readSharedHistory } from "../support/index/simulated-history.ts";

export type ExplorerStage = {
  readonly url: string;
  readonly database: Database;
  readonly head: number;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
};

export async function openExplorerStage(): Promise<ExplorerStage> {
  const { template, head, deployment } = await readSharedHistory();
  const place = await createTestDatabase({ template });
  const database = await openTestConnection(place.connection);
  const api = await startTestApi(database, { tokens: deployment.tokens ?? {} });
  return {
    url: api.url,
    database,
    head,
    get: (path, headers = {}) => fetch(api.url + path, { headers, redirect: "manual" }),
    async close() {
      await api.close();
      await database.close();
      await place.drop();
    },
  };
}

/** The path of every page in the table, with its example filled in. */
export async function findExamplePaths(url: string): Promise<readonly { page: Page; path: string }[]> {
  return Promise.all(pages.map(async (page) => ({ page, path: await findExamplePath(url, page) })));
}

export async function findExamplePath(url: string, page: Page): Promise<string> {
  const get = async (target: string): Promise<unknown> => {
    const response = await fetch(url + target);
    if (!response.ok) throw new Error(`${target} is ${response.status}`);
    return response.json();
  };
  const { params = {}, query = {} } = await page.findExample(get);
  const path = page.path.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ""));
  const text = new URLSearchParams(query).toString();
  return `${EXPLORER_PATH}${path}${text && `?${text}`}`;
}
