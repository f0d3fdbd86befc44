package io.fibry.cluster;

class AbsenceInMemoryTest extends AbsenceContract {
  AbsenceInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
