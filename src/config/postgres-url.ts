// The URL of a PostgreSQL server, or of several for fail-over: postgres://user@one:5432,two:5432/database.

const AUTHORITY = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** A URL for each server, in order; the URL itself if it names one. */
export function splitPostgresUrl(url: string): readonly string[] {
  const [, before, hosts, after] = AUTHORITY.exec(url) ?? [];
  return hosts?.includes(",") ? hosts.split(",").map((host) => `${before}${host}${after}`) : [url];
}
