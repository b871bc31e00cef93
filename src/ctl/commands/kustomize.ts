import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { command } from '../command.ts';
import { CommandError, usageError } from '../errors.ts';
import { text } from '../flags/flag.ts';
import { foldedYaml } from '../output/yaml.ts';

const restricted = 'LoadRestrictionsRootOnly';
const unrestricted = 'LoadRestrictionsNone';

export const kustomizeCommand = command({
  name: 'kustomize',
  summary: 'Build a kustomization target from a directory',
  description:
    "Print the objects that the file 'kustomization.yaml' of a directory describes. Without DIR, the current directory is built. No server is needed.",
  usage: 'DIR',
  examples: [
    { title: 'Build the current directory', lines: ['ctl kustomize'] },
    {
      title: 'Build another directory, and apply the result',
      lines: ['ctl kustomize overlays/production | orch ctl apply -f -'],
    },
  ],
  flags: {
    loadRestrictor: text(
      restricted,
      `If set to '${unrestricted}', kustomizations may read files outside of their directory.`,
    ),
    output: text('', 'If specified, write output to this path.', { short: 'o' }),
  },
  run: async ({ args, flags, io, path }) => {
    if (args.length > 1) throw usageError('specify one path to kustomization.yaml', path);
    const { loadRestrictor, output } = flags;
    if (loadRestrictor !== restricted && loadRestrictor !== unrestricted) {
      throw new CommandError(`--load-restrictor must be ${restricted} or ${unrestricted}`);
    }
    const { buildKustomization } = await import('../kustomize/build.ts');
    const objects = await buildKustomization(args[0] ?? '.', io, { isUnrestricted: loadRestrictor === unrestricted });
    const content = objects.map((object) => foldedYaml(object)).join('---\n');
    if (output === '') io.stdout.write(content);
    else await writeFile(resolve(io.folder, output), content);
    return 0;
  },
});
