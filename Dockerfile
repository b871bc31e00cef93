# docker build --tag orch .
FROM node:22-bookworm-slim AS build
WORKDIR /orch
COPY package.json package-lock.json rolldown.config.mjs tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN node scripts/build.mjs
RUN npm prune --omit=dev
# The user of the image may not write here: this start stores the compiled code for all later ones.
RUN timeout --preserve-status 20 node dist/server/main.js serve --store=memory --data-dir=/tmp/orch
RUN mkdir -m 700 /data

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /orch
COPY --from=build /orch/package.json ./
COPY --from=build /orch/node_modules node_modules
COPY --from=build /orch/dist dist
# A new volume takes its owner from the image.
COPY --from=build --chown=65534:65534 /data /data
USER 65534:65534
EXPOSE 6443
ENTRYPOINT ["node", "/orch/dist/server/main.js"]
CMD ["serve", "--bind-address=0.0.0.0", "--data-dir=/data"]
