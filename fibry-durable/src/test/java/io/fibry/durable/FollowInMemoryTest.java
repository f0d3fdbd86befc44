package io.fibry.durable;

class FollowInMemoryTest extends FollowContract {
  FollowInMemoryTest() {
    super(true);
  }
}
