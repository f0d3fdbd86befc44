package io.fibry.durable;

class EventViewsInReplicasTest extends EventViewsContract {
  EventViewsInReplicasTest() {
    super(ReplicaStores.maker());
  }
}
