package io.fibry.durable;

class KeptInAFolderTest extends KeptContract {
  KeptInAFolderTest() {
    super(Folders::new);
  }
}
