package io.fibry.durable;

class EndedActorsInReplicasTest extends EndedActorsContract {
  EndedActorsInReplicasTest() {
    super(ReplicaStores.maker());
  }
}
