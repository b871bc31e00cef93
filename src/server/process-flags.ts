import { flag } from './flag.ts';
import * as type from './flag-types.ts';

/** The flags that every command has. */
export const processFlags = {
  logLevel: flag(
    'Process',
    type.oneOf('error', 'warn', 'info', 'debug'),
    'info',
    'What is logged: JSON lines on standard error.',
  ),
  config: flag(
    'Process',
    type.file,
    undefined,
    'YAML file with settings: the names of flags without the hyphens before them.',
  ),
};
