import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster, Cure, Lane } from './cluster.ts';
import { Endpoint } from './endpoint.ts';
import { Journal } from './journal.ts';
import { Members, memberNames } from './members.ts';
import { freePorts, type Gate, Network } from './network.ts';
import { Processes } from './processes.ts';
import { Replica } from './replica.ts';
import { Supervisor } from './supervisor.ts';
import { keyOf } from './target.ts';

const replicaNames = ['r0', 'r1', 'r2'];
/**
 * Three members of etcd and three replicas, each a process. Between any two of them there is a proxy of its own; clients
 * reach the replicas directly. `program`: that of etcd; data and logs are kept in the folder.
 */
export async function startEtcdCluster(folder: string, program: string): Promise<Cluster> {
  const processes = new Processes(folder);
  const network = new Network();
  const members = await Members.start(processes, network, folder, program);
  const journal = new Journal(members, keyOf);
  const ports = await freePorts(replicaNames.length);
  const replicas = await Promise.all(
    replicaNames.map(async (name, i) => {
      const own = join(folder, name);
      mkdirSync(own);
      const servers = await members.addressesFor(name);
      return new Replica(processes, new Endpoint(name, own, ports[i] as number), [
        '--store=etcd',
        `--etcd-servers=${servers.join(',')}`,
        '--controllers=-*',
        '--api-domain=k8s.io',
        '--feature-gates=WatchList=true',
      ]);
    }),
  );
  const supervisor = new Supervisor(replicas);
  return {
    endpoints: replicas.map(({ endpoint }) => endpoint),
    lanes: [memberLane(members, network), replicaLane(replicas, supervisor, network, members)],
    journal: journal.entries,
    get revision() {
      return journal.revision;
    },
    compact: (revision) => members.compact(revision),
    sync: () => journal.sync(),
    complaints: () => supervisor.complaints,
    close: async () => {
      supervisor.stop();
      journal.close();
      for (const { endpoint } of replicas) endpoint.close();
      await processes.close();
      network.close();
    },
  };
}

function memberLane(members: Members, network: Network): Lane {
  // The leader first, and then every other time.
  const victim = async (choice: number) =>
    (choice % 2 === 0 ? await members.leader() : undefined) ?? (memberNames[choice % memberNames.length] as string);
  const others = (name: string) => memberNames.filter((other) => other !== name);
  const cut = (gate: Gate, directions: 'both' | 'from') => async (choice: number) => {
    const name = await victim(choice);
    const pairs = others(name).flatMap((other) => [[name, other], ...(directions === 'both' ? [[other, name]] : [])]);
    return gates(network, pairs as [string, string][], gate);
  };
  return {
    rest: 1_000,
    length: 2_500,
    faults: {
      'kill member': async (choice) => {
        const name = await victim(choice);
        await members.kill(name);
        return () => members.start(name);
      },
      'pause member': async (choice) => {
        const name = await victim(choice);
        members.pause(name);
        return () => members.resume(name);
      },
      'cut member off': cut('held', 'both'),
      'refuse connections of member': cut('reset', 'both'),
      'keep back what member says': cut('held', 'from'),
      'fill etcd': async () => {
        await members.refuseSpace(true);
        return () => members.refuseSpace(false);
      },
    },
  };
}

function replicaLane(replicas: readonly Replica[], supervisor: Supervisor, network: Network, members: Members): Lane {
  const victim = (choice: number) => replicas[choice % replicas.length] as Replica;
  const between = (replica: Replica, names: readonly string[]) =>
    names.flatMap((name) => [[replica.endpoint.name, name] as const, [name, replica.endpoint.name] as const]);
  const cut = (gate: Gate) => (choice: number) => gates(network, between(victim(choice), memberNames), gate);
  return {
    rest: 1_000,
    length: 2_500,
    faults: {
      'kill replica': (choice) => supervisor.end(victim(choice), 'SIGKILL'),
      'stop replica': (choice) => supervisor.end(victim(choice), 'SIGTERM'),
      'pause replica': (choice) => {
        const replica = victim(choice);
        replica.signal('SIGSTOP');
        return () => replica.signal('SIGCONT');
      },
      'cut replica off': cut('held'),
      'refuse connections of replica': cut('reset'),
      'keep back what replica is told': (choice) =>
        gates(
          network,
          memberNames.map((name) => [name, victim(choice).endpoint.name] as const),
          'held',
        ),
      'cut replica off the leader': async (choice) =>
        gates(network, between(victim(choice), [(await members.leader()) ?? memberNames[0]]), 'held'),
    },
  };
}

/** Sets gates, and opens them again as the cure. */
function gates(network: Network, pairs: readonly (readonly [string, string])[], gate: Gate): Cure {
  for (const [from, to] of pairs) network.set(from, to, gate);
  return () => {
    for (const [from, to] of pairs) network.set(from, to, 'open');
  };
}
