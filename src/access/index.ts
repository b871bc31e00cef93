/** Identity and rights by configuration: identity providers, webhooks, and their expressions. */
export * from './authorization/index.ts';
