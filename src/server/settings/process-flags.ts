import { flag } from './flag.ts';
import * as type from './flag-types.ts';
import { defaultLevels } from './log-levels.ts';

/** The flags that every command has. */
export const processFlags = {
  logLevel: flag(
    'Process',
    type.levels,
    defaultLevels,
    'Minimum level that is logged on standard error: `error`, `warn`, `info` or `debug`, which logs every request. Parts of the server may have other levels: `info,store=debug,http=warn`. `PUT /debug/flags/v` changes it while the server runs.',
  ),
  logFormat: flag(
    'Process',
    type.oneOf('auto', 'json', 'text'),
    'auto',
    'Format of the log: JSON, or text with the level, the time and the part of the server before the message. `auto` writes readable text on a terminal, and JSON elsewhere.',
    ['logging-format'],
  ),
  config: flag('Process', type.file, undefined, 'YAML file with settings: the names of flags without leading hyphens.'),
};
