package io.fibry.durable;

class FollowInNatsTest extends FollowContract {
  FollowInNatsTest() {
    super(InNats.maker());
  }
}
