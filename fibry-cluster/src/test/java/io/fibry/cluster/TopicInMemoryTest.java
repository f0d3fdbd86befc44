package io.fibry.cluster;

class TopicInMemoryTest extends TopicContract {
  TopicInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
