import { at, formatTime, isJsonObject, type JsonObject } from '../../meta/index.ts';
import { type Command, command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { toggle } from '../flags/flag.ts';
import { placedObjects } from '../objects/patch.ts';
import { pathOfTarget, resourceOf } from '../objects/targets.ts';
import { printedName } from '../output/printer.ts';

const decide = (name: 'approve' | 'deny'): Command => {
  const [type, done, other] =
    name === 'approve' ? ['Approved', 'approved', 'Denied'] : ['Denied', 'denied', 'Approved'];
  const verb = name === 'approve' ? 'Approve' : 'Deny';
  return command({
    name,
    summary: `${verb} a certificate signing request`,
    description: `${verb} a certificate signing request.`,
    usage: '(CSR NAME ...)',
    examples: [{ title: `${verb} CSR 'csr-sqgzp'`, lines: [`ctl certificate ${name} csr-sqgzp`] }],
    flags: { force: toggle(false, 'Update the CSR even if it is already decided.') },
    run: async ({ args, flags, io, path, cluster }) => {
      if (args.length === 0)
        throw new CommandError(`one or more CSRs must be specified as <name>\nSee '${path} -h' for help and examples`);
      const opened = await cluster();
      const resource = await resourceOf(opened, 'certificatesigningrequests');
      const targets = args.map((csr) => ({
        resource,
        namespace: undefined,
        name: csr.replace(/^(?:csr|certificatesigningrequests?)\//, ''),
      }));
      for (const { target, object } of await placedObjects(opened, targets)) {
        const conditions = conditionsOf(object);
        if (conditions.some((one) => one['type'] === other)) {
          throw new CommandError(
            `certificate signing request "${target.name}" is already ${String(other).toLowerCase()}`,
          );
        }
        if (flags.force || !conditions.some((one) => one['type'] === type)) {
          const condition: JsonObject = {
            type: type ?? '',
            status: 'True',
            reason: `Ctl${verb}`,
            message: `This CSR was ${done} by ${path}.`,
            lastUpdateTime: formatTime(io.clock.now()),
          };
          const status = isJsonObject(object['status']) ? object['status'] : {};
          const body = { ...object, status: { ...status, conditions: [...conditions, condition] } };
          await opened.send({ method: 'PUT', url: `${pathOfTarget(target)}/approval`, body });
        }
        io.stdout.write(`${printedName(object)} ${done}\n`);
      }
      return 0;
    },
  });
};

function conditionsOf(object: JsonObject): JsonObject[] {
  const conditions = at(object, 'status', 'conditions');
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}

/** Only subcommands do something. */
export const certificateCommand: Command = {
  name: 'certificate',
  summary: 'Modify certificate resources',
  description: 'Modify certificate resources.',
  usage: 'SUBCOMMAND',
  examples: [],
  flags: {},
  subcommands: [decide('approve'), decide('deny')],
};
