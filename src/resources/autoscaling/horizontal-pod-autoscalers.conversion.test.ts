import { describe, expect, test } from 'vitest';
import { type ApiObject, atOnce, inTurns, type JsonObject, type Names, namesFor } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { compile } from '../../schema/index.ts';
import { HorizontalPodAutoscaler } from '../../types/autoscaling-v2.ts';
import { created } from '../testing/kind.ts';
import * as conversion from './horizontal-pod-autoscalers.conversion.ts';
import { horizontalPodAutoscalers } from './horizontal-pod-autoscalers.ts';

const names = namesFor('k8s.io');
const toV2 = (object: ApiObject, of: Names) => atOnce(conversion.toV2(object, of));
const fromV2 = (object: ApiObject, of: Names) => atOnce(conversion.fromV2(object, of));
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
const metadata = { name: 'x', namespace: 'ns', annotations: { mine: 'yes' } };
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };

const decode = (fields: JsonObject): ApiObject =>
  compile(HorizontalPodAutoscaler, names).decode({
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    ...fields,
  }).value as ApiObject;
const carried = (object: ApiObject, annotation: string) =>
  object.metadata.annotations?.[`autoscaling.alpha.kubernetes.io/${annotation}`];

describe('autoscaling/v1', () => {
  test('has the CPU utilization, and both replica counts even when they are zero', () => {
    const shown = fromV2(decode({ metadata, spec: { scaleTargetRef, maxReplicas: 3, metrics: [cpu] } }), names);
    expect(shown).toEqual({
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata,
      spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
      status: { currentReplicas: 0, desiredReplicas: 0 },
    });
  });

  // In the carried form each metric value is a field of its own, in the order of the field tags.
  const metrics: readonly (readonly [title: string, v2: JsonObject, carried: string])[] = [
    [
      'an object',
      {
        type: 'Object',
        object: {
          describedObject: { kind: 'Service', name: 's' },
          metric: { name: 'hits', selector: { matchLabels: { a: 'b' } } },
          target: { type: 'Value', value: '10' },
        },
      },
      '{"type":"Object","object":{"target":{"kind":"Service","name":"s"},"metricName":"hits","targetValue":"10","selector":{"matchLabels":{"a":"b"}}}}',
    ],
    [
      'pods',
      { type: 'Pods', pods: { metric: { name: 'p<q' }, target: { type: 'AverageValue', averageValue: '1' } } },
      '{"type":"Pods","pods":{"metricName":"p\\u003cq","targetAverageValue":"1"}}',
    ],
    [
      'an amount of memory',
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
      '{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}',
    ],
    [
      'one container',
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 7 } },
      },
      '{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":7,"container":"c"}}',
    ],
    [
      'a source elsewhere',
      { type: 'External', external: { metric: { name: 'e' }, target: { type: 'AverageValue', averageValue: '2' } } },
      '{"type":"External","external":{"metricName":"e","targetAverageValue":"2"}}',
    ],
  ];
  test.each(metrics)('carries %s in annotations and restores it', (_, metric, text) => {
    const stored = decode({ metadata, spec: { scaleTargetRef, maxReplicas: 3, metrics: [metric, cpu] } });
    const shown = fromV2(stored, names);
    expect(carried(shown, 'metrics')).toBe(`[${text}]`);
    expect(decode(toV2(shown, names))).toEqual(stored);
  });

  test('carries the behavior with the field names of the internal form', () => {
    const policies = [{ type: 'Pods', value: 4, periodSeconds: 15 }];
    const behavior = { scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies } };
    const stored = decode({ metadata, spec: { scaleTargetRef, maxReplicas: 3, metrics: [cpu], behavior } });
    const shown = fromV2(stored, names);
    expect(carried(shown, 'behavior')).toBe(
      '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":null}',
    );
    expect(decode(toV2(shown, names))).toEqual(stored);
  });

  test('carries all current metrics, the CPU included', () => {
    const currentMetrics = [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 12, averageValue: '3m' } } },
    ];
    const conditions = [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2024-01-02T03:04:05Z' }];
    const status = { currentReplicas: 1, desiredReplicas: 2, currentMetrics, conditions };
    const stored = decode({ metadata, spec: { scaleTargetRef, maxReplicas: 3, metrics: [cpu] }, status });
    const shown = fromV2(stored, names);
    expect(shown['status']).toEqual({ currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 12 });
    expect(carried(shown, 'current-metrics')).toBe(
      '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":12,"currentAverageValue":"3m"}}]',
    );
    expect(carried(shown, 'conditions')).toBe(
      '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2024-01-02T03:04:05Z"}]',
    );
    expect(decode(toV2(shown, names))).toEqual(stored);
  });

  test.each(['{', '{}', '[1]', '[{"type":7}]'])('ignores an annotation with the value %s', (text) => {
    const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': text };
    const object = { metadata: { ...metadata, annotations }, spec: { targetCPUUtilizationPercentage: 50 } };
    const stored = decode(toV2(object as unknown as ApiObject, names));
    expect(stored['spec']).toMatchObject({ metrics: [cpu] });
    expect(stored.metadata.annotations).toBeUndefined();
  });
});

test('ignores an annotation that exceeds the nesting limit', () => {
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  const annotations = { 'autoscaling.alpha.kubernetes.io/behavior': deep };
  const stored = toV2({ metadata: { ...metadata, annotations }, spec: {} } as unknown as ApiObject, names);
  expect(stored['spec']).toEqual({ metrics: [] });
});

test('is converted both ways in steps in proportion to what the annotations carry', async () => {
  const pauses = async (count: number) => {
    const metrics = Array.from({ length: count }, () => ({
      type: 'Resource',
      resource: { name: 'memory', targetAverageValue: '1' },
    }));
    const kind = 'HorizontalPodAutoscaler';
    const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify(metrics) };
    const turns = new EveryStep();
    const stored = await inTurns(
      conversion.toV2({ kind, metadata: { ...metadata, annotations }, spec: {} } as unknown as ApiObject, names),
      turns,
    );
    const backAt = turns.count;
    const shown = await inTurns(conversion.fromV2(stored, names), turns);
    expect(carried(shown, 'metrics')).toBe(JSON.stringify(metrics));
    return [backAt, turns.count - backAt];
  };
  const [one, two] = [await pauses(5_000), await pauses(10_000)];
  for (const [way, count = 0] of one.entries()) {
    expect(count).toBeGreaterThanOrEqual(20);
    expect(two[way]).toBeGreaterThanOrEqual(1.5 * count);
  }
});

test('autoscaling/v2 drops the annotations of v1', () => {
  const annotations = { mine: 'yes', 'autoscaling.alpha.kubernetes.io/behavior': '{}' };
  const object = created(horizontalPodAutoscalers, { metadata: { annotations }, spec: { scaleTargetRef } });
  expect(object.metadata.annotations).toEqual({ mine: 'yes' });
});
