import { describe, expect, test } from 'vitest';
import { podDisruptionBudgets } from '../policy/pod-disruption-budgets.ts';
import { created, type Fragment, onCreate, onUpdate, type Row, sorted } from '../testing/kind.ts';
import { forbidden, invalid, missing, required, unsupported } from '../testing/messages.ts';
import { horizontalPodAutoscalers } from './horizontal-pod-autoscalers.ts';

const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
const scaler = (more: Fragment): Fragment => ({ spec: { scaleTargetRef, maxReplicas: 3, ...more } });
const metric = (one: Fragment): Fragment => scaler({ metrics: [one] });
const at = 'spec.metrics[0]';
const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } };

describe('horizontal pod autoscalers', () => {
  const rows: readonly Row[] = [
    ['a deployment', scaler({})],
    [
      'no target name, and minReplicas above maxReplicas',
      { spec: { scaleTargetRef: { kind: 'Deployment' }, minReplicas: 5, maxReplicas: 3 } },
      ['spec.maxReplicas', 'Invalid', invalid(3, 'must be greater than or equal to `minReplicas`')],
      ['spec.scaleTargetRef.apiVersion', 'Invalid', invalid('', 'apiVersion must specify API group')],
      ['spec.scaleTargetRef.name', 'Required', missing],
    ],
    [
      'an empty spec',
      { spec: { scaleTargetRef: {}, maxReplicas: 0 } },
      ['spec.maxReplicas', 'Invalid', invalid(0, 'must be greater than or equal to `minReplicas`')],
      ['spec.maxReplicas', 'Required', required('must be set and greater than 0')],
      ['spec.scaleTargetRef.apiVersion', 'Invalid', invalid('', 'apiVersion must specify API group')],
      ['spec.scaleTargetRef.kind', 'Required', missing],
      ['spec.scaleTargetRef.name', 'Required', missing],
    ],
    [
      'no policies',
      scaler({ behavior: { scaleUp: { policies: [] }, scaleDown: { policies: [] } } }),
      ['spec.behavior.scaleDown.policies', 'Required', required('must specify at least one Policy')],
      ['spec.behavior.scaleUp.policies', 'Required', required('must specify at least one Policy')],
    ],
    ['policies that are null', scaler({ behavior: { scaleUp: { policies: null }, scaleDown: { policies: null } } })],
    ['a ReplicationController', scaler({ scaleTargetRef: { kind: 'ReplicationController', name: 'r' } })],
    [
      'invalid names',
      scaler({ scaleTargetRef: { kind: 'a/b', name: '..', apiVersion: 'a/b/c' } }),
      ['spec.scaleTargetRef.apiVersion', 'Invalid', invalid('a/b/c', 'unexpected GroupVersion string: a/b/c')],
      ['spec.scaleTargetRef.kind', 'Invalid', invalid('a/b', "may not contain '/'")],
      ['spec.scaleTargetRef.name', 'Invalid', invalid('..', "may not be '..'")],
    ],
    [
      'minReplicas of 0',
      scaler({ minReplicas: 0 }),
      [
        'spec.metrics',
        'Forbidden',
        forbidden('must specify at least one Object or External metric to support scaling to zero replicas'),
      ],
      ['spec.minReplicas', 'Invalid', invalid(0, 'must be greater than or equal to 1')],
    ],
    [
      'an unknown metric type',
      metric({ type: 'Odd' }),
      [`${at}.type`, 'NotSupported', unsupported('Odd', ...metricTypes)],
      [`${at}.type`, 'NotSupported', unsupported('Odd', ...metricTypes)],
    ],
    [
      'no metric source',
      metric({ type: 'Pods' }),
      [`${at}.pods`, 'Required', required('must populate information for the given metric source')],
    ],
    [
      'two metric sources',
      metric({
        type: 'Resource',
        resource: cpu,
        external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } },
      }),
      [`${at}.external`, 'Forbidden', forbidden('must populate the given metric source only')],
    ],
    [
      'no metric target',
      metric({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }),
      [
        `${at}.resource.target.averageUtilization`,
        'Required',
        required('must set either a target raw value or a target utilization'),
      ],
    ],
    [
      'two target values',
      metric({ type: 'Resource', resource: { ...cpu, target: { ...cpu.target, averageValue: '1' } } }),
      [
        `${at}.resource.target.averageValue`,
        'Forbidden',
        forbidden('may not set both a target raw value and a target utilization'),
      ],
    ],
    [
      'a target below 1',
      metric({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Odd', averageUtilization: 0 } } }),
      [`${at}.resource.target.averageUtilization`, 'Invalid', invalid(0, 'must be greater than 0')],
      [`${at}.resource.target.type`, 'Invalid', invalid('Odd', 'must be either Utilization, Value, or AverageValue')],
    ],
    [
      'a negative maxReplicas',
      { spec: { scaleTargetRef, maxReplicas: -1 } },
      ['spec.maxReplicas', 'Invalid', invalid(-1, 'must be greater than or equal to 1')],
      ['spec.maxReplicas', 'Invalid', invalid(-1, 'must be greater than or equal to `minReplicas`')],
    ],
    [
      'a Pods metric whose averageValue is zero',
      metric({ type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '0' } } }),
      [`${at}.pods.target.averageValue`, 'Invalid', invalid('0', 'must be positive')],
    ],
    [
      'a Pods metric without averageValue',
      metric({ type: 'Pods', pods: { metric: {}, target: { type: 'AverageValue' } } }),
      [`${at}.pods.metric.name`, 'Required', required('must specify a metric name')],
      [`${at}.pods.target.averageValue`, 'Required', required('must specify a positive target averageValue')],
    ],
    [
      'an external metric',
      metric({ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '0' } } }),
      [`${at}.external.target.value`, 'Invalid', invalid('0', 'must be positive')],
    ],
    [
      'a resource that containers cannot request',
      metric({
        type: 'ContainerResource',
        containerResource: { container: 'c', name: 'storage', target: { type: 'Utilization', averageUtilization: 5 } },
      }),
      [`${at}.containerResource.name`, 'Invalid', invalid('storage', 'must be a standard resource for containers')],
    ],
    [
      'an unknown resource of a container',
      metric({
        type: 'ContainerResource',
        containerResource: { name: 'gpu', target: { type: 'Utilization', averageUtilization: 5 } },
      }),
      [`${at}.containerResource.container`, 'Required', required('must specify a container')],
      [`${at}.containerResource.name`, 'Invalid', invalid('gpu', 'must be a standard resource for containers')],
      [
        `${at}.containerResource.name`,
        'Invalid',
        invalid('gpu', 'must be a standard resource type or fully qualified'),
      ],
    ],
    [
      'invalid scaling rules',
      scaler({
        behavior: { scaleUp: { stabilizationWindowSeconds: 3601, policies: [{ type: 'Odd', periodSeconds: 1801 }] } },
      }),
      [
        'spec.behavior.scaleUp.stabilizationWindowSeconds',
        'Invalid',
        invalid(3601, 'must be less than or equal to 3600'),
      ],
      ['spec.behavior.scaleUp.policies[0].type', 'NotSupported', unsupported('Odd', 'Percent', 'Pods')],
      ['spec.behavior.scaleUp.policies[0].value', 'Invalid', invalid(0, 'must be greater than zero')],
      [
        'spec.behavior.scaleUp.policies[0].periodSeconds',
        'Invalid',
        invalid(1801, 'must be less than or equal to 1800'),
      ],
    ],
    [
      'an unknown select policy',
      scaler({ behavior: { scaleDown: { selectPolicy: 'Odd' } } }),
      ['spec.behavior.scaleDown.selectPolicy', 'NotSupported', unsupported('Odd', 'Disabled', 'Max', 'Min')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(horizontalPodAutoscalers, fragment)).toEqual(sorted(expected));
  });
  test('defaults', () => {
    expect(created(horizontalPodAutoscalers, scaler({ behavior: { scaleDown: {} } }))['spec']).toEqual({
      scaleTargetRef,
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
      ],
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 0,
          selectPolicy: 'Max',
          policies: [
            { type: 'Pods', value: 4, periodSeconds: 15 },
            { type: 'Percent', value: 100, periodSeconds: 15 },
          ],
        },
        scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
      },
    });
  });
});

test('the status of an autoscaler may have a metric of an object without a name', () => {
  const status = { currentMetrics: [{ type: 'Object', object: { metric: { name: 'm' } } }] };
  expect(onUpdate(horizontalPodAutoscalers, scaler({}), { ...scaler({}), status }, 'status')).toEqual([]);
});

describe('pod disruption budgets', () => {
  const selector = { matchLabels: { a: 'b' } };
  const rows: readonly Row[] = [
    ['minAvailable', { spec: { minAvailable: 1, selector } }],
    [
      'both bounds, one above 100%',
      { spec: { minAvailable: 1, maxUnavailable: '150%', selector } },
      [
        'spec',
        'Invalid',
        invalid(
          { MinAvailable: 1, Selector: selector, MaxUnavailable: '150%', UnhealthyPodEvictionPolicy: null },
          'minAvailable and maxUnavailable cannot be both set',
        ),
      ],
      ['spec.maxUnavailable', 'Invalid', invalid('150%', 'must not be greater than 100%')],
    ],
    [
      'a negative number',
      { spec: { minAvailable: -1 } },
      ['spec.minAvailable', 'Invalid', invalid(-1, 'must be greater than or equal to 0')],
    ],
    [
      'an invalid percentage',
      { spec: { minAvailable: 'x' } },
      [
        'spec.minAvailable',
        'Invalid',
        invalid(
          'x',
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
      ],
    ],
    [
      'an unknown eviction policy',
      { spec: { unhealthyPodEvictionPolicy: 'Odd' } },
      ['spec.unhealthyPodEvictionPolicy', 'NotSupported', unsupported('Odd', 'AlwaysAllow', 'IfHealthyBudget')],
    ],
    [
      'an invalid selector',
      { spec: { selector: { matchExpressions: [{ key: 'k', operator: 'In' }] } } },
      [
        'spec.selector.matchExpressions[0].values',
        'Required',
        required("must be specified when `operator` is 'In' or 'NotIn'"),
      ],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(podDisruptionBudgets, fragment)).toEqual(sorted(expected));
  });
  test('conditions are validated', () => {
    const status = {
      conditions: [
        { type: 'T', status: 'Odd', reason: '1' },
        { type: 'T', status: 'True', reason: '' },
      ],
    };
    const found = onUpdate(podDisruptionBudgets, {}, { status }, 'status');
    expect(found.map(([field, reason]) => `${field} ${reason}`)).toEqual([
      'status.conditions[0].lastTransitionTime Required',
      'status.conditions[0].reason Invalid',
      'status.conditions[0].status NotSupported',
      'status.conditions[1].lastTransitionTime Required',
      'status.conditions[1].reason Required',
      'status.conditions[1].type Duplicate',
    ]);
    expect(found[2]?.[2]).toBe(unsupported('Odd', 'False', 'True', 'Unknown'));
  });
});
