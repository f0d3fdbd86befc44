package io.fibry.durable;

class EndedInReplicasTest extends EndedContract {
  EndedInReplicasTest() {
    super(InReplicas.maker());
  }
}
