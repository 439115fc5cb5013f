use super::*;
use crate::json;

fn ready() -> Replica {
    let mut replica = Replica::new();
    replica.hydrate(4, &[Op::Replace(json!({ "a": 1 }))]).unwrap();
    replica
}

#[test]
fn a_replica_follows_its_batches() {
    let mut replica = ready();
    replica.update(5, &[Op::Set(vec!["a".into()], json!(2))]).unwrap();
    replica.update_batch(6, &json!([])).unwrap();
    replica.update_batch(7, &json!([["s", ["b"], 3]])).unwrap();
    let value = json!({ "a": 2, "b": 3 });
    assert_eq!(replica, Replica::Ready { sequence: 7, value });
    replica.hydrate_batch(2, &json!([["r", null]])).unwrap();
    assert_eq!(replica.value(), Some(&Json::Null), "null is a value");
    replica.clear();
    assert_eq!(replica.value(), None);
}

#[test]
fn every_failure_leaves_it_cold() {
    type Fault = fn(&mut Replica) -> Result<(), ReplicaError>;
    let gap = |got| ReplicaError::Gap { expected: 5, got };
    let faults: [(Fault, ReplicaError); 7] = [
        (|r| r.update(4, &[]), gap(4)),
        (|r| r.update_batch(6, &json!([])), gap(6)),
        (|r| r.hydrate(9, &[]), ReplicaError::NotABase),
        (
            |r| r.hydrate_batch(9, &json!([["s", ["a"], 1]])),
            ReplicaError::NotABase,
        ),
        (|r| r.hydrate_batch(9, &json!("r")), ReplicaError::NotABase),
        (
            |r| r.hydrate_batch(9, &json!([["r"]])),
            ApplyError::Type("r arity".into()).into(),
        ),
        (
            |r| r.update(5, &[Op::Set(vec!["a".into()], f64::NAN.into())]),
            ApplyError::Type("number is not finite".into()).into(),
        ),
    ];
    for (fault, error) in faults {
        let mut replica = ready();
        assert_eq!(fault(&mut replica), Err(error));
        assert_eq!(replica, Replica::Cold);
        assert_eq!(replica.update(5, &[]), Err(ReplicaError::Cold));
        replica.hydrate(5, &[Op::Replace(json!(1))]).unwrap();
    }
    let mut last = Replica::Ready {
        sequence: u64::MAX,
        value: Json::Null,
    };
    assert!(matches!(
        last.update(u64::MAX, &[]),
        Err(ReplicaError::Gap { .. })
    ));
}
