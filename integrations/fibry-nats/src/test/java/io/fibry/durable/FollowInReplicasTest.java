package io.fibry.durable;

class FollowInReplicasTest extends FollowContract {
  FollowInReplicasTest() {
    super(InReplicas.maker());
  }
}
