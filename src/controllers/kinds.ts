/** The built-in kinds that controllers read and write. */
export * as kinds from './built-in-kinds.ts';
