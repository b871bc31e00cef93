import { isJsonObject, type Json } from '../../../meta/index.ts';
import { command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { jsonText } from '../../output/json.ts';
import { outputFlags, printerOf } from '../../output/printer.ts';
import { printTable } from '../../output/tab-writer.ts';

export const whoamiCommand = command({
  name: 'whoami',
  summary: 'Experimental: Check self subject attributes',
  description: 'Check who you are and your attributes (groups, extra).',
  usage: '',
  examples: [{ title: 'Get your subject attributes', lines: ['ctl auth whoami'] }],
  flags: outputFlags,
  run: async ({ args, flags, io, cluster }) => {
    if (args.length > 0) throw new CommandError(`unexpected arguments: [${args.join(' ')}]`);
    const printer = await printerOf(flags, { write: (line) => io.stdout.write(line), folder: io.folder });
    const opened = await cluster();
    const { names } = await opened.discovery();
    const apiVersion = `authentication.${names.domain}/v1`;
    const url = `/apis/${apiVersion}/selfsubjectreviews`;
    const review = await opened.send({ method: 'POST', url, body: { apiVersion, kind: 'SelfSubjectReview' } });
    if (printer !== undefined) printer.print(review);
    else printTable((line) => io.stdout.write(line), rowsOf(review['status']));
    return 0;
  },
});

function rowsOf(status: Json | undefined): string[][] {
  const info = isJsonObject(status) && isJsonObject(status['userInfo']) ? status['userInfo'] : {};
  const list = (value: Json | undefined) => `[${(Array.isArray(value) ? value : []).map(String).join(' ')}]`;
  const { username = '', uid = '', groups = [], extra = {} } = info;
  const extras = isJsonObject(extra) ? extra : {};
  return [
    ['ATTRIBUTE', 'VALUE'],
    ...(username === '' ? [] : [['Username', jsonText(username)]]),
    ...(uid === '' ? [] : [['UID', jsonText(uid)]]),
    ...(Array.isArray(groups) && groups.length > 0 ? [['Groups', list(groups)]] : []),
    ...Object.keys(extras)
      .sort()
      .map((key) => [`Extra: ${key}`, list(extras[key])]),
  ];
}
