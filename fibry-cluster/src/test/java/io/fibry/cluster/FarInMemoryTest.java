package io.fibry.cluster;

class FarInMemoryTest extends FarContract {
  FarInMemoryTest() {
    super("bank", MemoryNetwork.create());
  }
}
