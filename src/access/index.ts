/** Identity and rights by configuration: identity providers, webhooks, and their expressions. */
export * from './authentication/index.ts';
export * from './authorization/index.ts';
