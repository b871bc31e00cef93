/** Identity and rights by configuration files: identity providers, webhooks and their expressions. */
export * from './authentication/index.ts';
