// Which methods each path answers, so that a wrong one gets 405 and an Allow header instead of 404.
import type { FastifyInstance } from "fastify";

export type AllowedMethods = { forUrl(url: string): readonly string[] };

/** Listens to the routes as they are registered; must be made before the first one. */
export function trackAllowedMethods(app: FastifyInstance): AllowedMethods {
  const routes: { pattern: RegExp; methods: readonly string[] }[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    routes.push({ pattern: patternOf(url), methods: [method].flat() });
  });
  return {
    forUrl(url) {
      const [path = ""] = url.split("?", 1);
      const methods = routes.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods);
      return [...new Set(methods)].sort();
    },
  };
}

// Only literal segments and `:name` parameters, which the router also takes empty, occur in our routes.
function patternOf(url: string): RegExp {
  const segments = url
    .split("/")
    .map((segment) => (segment.startsWith(":") ? "[^/]*" : escapeRegex(segment)));
  return new RegExp(`^${segments.join("/")}$`);
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
