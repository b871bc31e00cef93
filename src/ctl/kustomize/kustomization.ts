/** Reads kustomization files, and the files that have parts of them. */
import { join } from 'node:path';
import { parseYaml } from '../../codec/index.ts';
import { expandNames, isJsonObject, type Json, StatusError } from '../../meta/index.ts';
import { type ConfigurationFormat, decodeConfiguration } from '../../schema/index.ts';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';
import {
  type Configuration,
  configurationFormat,
  type Kustomization,
  kustomizationFormat,
  type Replacement,
  replacementsFormat,
  unsupported,
} from './format.ts';
import type { Folder } from './load.ts';
import { names } from './resource.ts';

const fileNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

const kinds: { readonly [kind: string]: string } = {
  Kustomization: expandNames('kustomize.config.{domain}/v1beta1', names),
  Component: expandNames('kustomize.config.{domain}/v1alpha1', names),
};

/** Fields that still work, with those that replace them. */
const deprecated = {
  bases: 'resources',
  commonLabels: 'labels',
  imageTags: 'images',
  patchesJson6902: 'patches',
  patchesStrategicMerge: 'patches',
};

export interface KustomizationFile {
  readonly name: string;
  readonly kustomization: Kustomization;
  readonly isComponent: boolean;
}

/** The kustomization of a folder, with its deprecated lists in the present ones. @throws CommandError */
export async function readKustomization(folder: Folder, { stderr }: Pick<Io, 'stderr'>): Promise<KustomizationFile> {
  const found: string[] = [];
  for (const name of fileNames) if (await folder.has(name)) found.push(name);
  const [name, ...others] = found;
  if (name === undefined) {
    throw new CommandError(`${folder.path} must have a file named ${fileNames.join(' or ')}`);
  }
  if (others.length > 0) throw new CommandError(`${folder.path} has several kustomization files: ${found.join(', ')}`);
  const path = join(folder.path, name);
  const value = parsed(await folder.read(name), path);
  if (!isJsonObject(value)) throw new CommandError(`${path} must be an object`);
  for (const [field, remedy] of Object.entries(unsupported)) {
    if (value[field] !== undefined && value[field] !== null) {
      throw new CommandError(`${path}: the field '${field}' is not supported: ${remedy}`);
    }
  }
  const kustomization = decoded(kustomizationFormat, value, path);
  const { apiVersion = '', kind = '' } = kustomization;
  const required = kinds[kind || 'Kustomization'];
  if (required === undefined) throw new CommandError(`${path}: kind must be Kustomization or Component`);
  if (apiVersion !== '' && apiVersion !== required) {
    throw new CommandError(`${path}: apiVersion of a ${kind || 'Kustomization'} must be ${required}`);
  }
  const fields = Object.keys(value).filter((field) => value[field] !== null);
  if (fields.every((field) => field === 'apiVersion' || field === 'kind')) throw new CommandError(`${path} is empty`);
  for (const [field, present] of Object.entries(deprecated)) {
    if (fields.includes(field)) stderr.write(`# Warning: '${field}' is deprecated. Please use '${present}' instead.\n`);
  }
  const { resources = [], bases = [], images = [], imageTags = [] } = kustomization;
  return {
    name,
    kustomization: { ...kustomization, resources: [...resources, ...bases], images: [...images, ...imageTags] },
    isComponent: kind === 'Component',
  };
}

/** The fields of the files of `configurations`. @throws CommandError */
export async function readConfigurations(
  folder: Folder,
  { configurations = [] }: Kustomization,
): Promise<Configuration[]> {
  const read: Configuration[] = [];
  for (const path of configurations)
    read.push(decoded(configurationFormat, parsed(await folder.read(path), path), path));
  return read;
}

/** All replacements, those of files included. @throws CommandError */
export async function readReplacements(folder: Folder, { replacements = [] }: Kustomization): Promise<Replacement[]> {
  const read: Replacement[] = [];
  for (const { path = '', ...replacement } of replacements) {
    if (path === '') read.push(replacement);
    else if (replacement.source || replacement.targets) {
      throw new CommandError('replacements: set either path, or source and targets');
    } else {
      const value = parsed(await folder.read(path), path);
      const listed = { replacements: Array.isArray(value) ? value : [value] };
      for (const one of decoded(replacementsFormat, listed, path).replacements ?? []) read.push(one);
    }
  }
  return read;
}

function parsed(content: Buffer, path: string): Json {
  try {
    const { value, findings } = parseYaml(content);
    if (findings.length > 0) throw new CommandError(`${path}: ${findings.join('; ')}`);
    return value;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new CommandError(`${path}: ${error.message}`, { cause: error });
  }
}

function decoded<T>(format: ConfigurationFormat<T>, value: Json, path: string): T {
  const result = decodeConfiguration(format, value, names);
  if ('problems' in result) throw new CommandError(`${path}: ${result.problems.join('; ')}`);
  return result.value;
}
