package io.fibry.durable;

class FollowInMemoryTest extends FollowContract {
  FollowInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
