package io.fibry.cluster;

class HomesInMemoryTest extends HomesContract {
  HomesInMemoryTest() {
    super("bank", MemoryNetwork.create());
  }
}
