package base
import ("testing";"context";"time";"os";"cordon/internal/git";"cordon/internal/state")
func TestZZ(t *testing.T){
 ctx:=context.Background()
 t.Setenv("XDG_STATE_HOME", t.TempDir())
 bin,_:=git.Find(ctx); src:=os.Getenv("SRC"); if src=="" {t.Skip()}
 h,err:=git.Discover(ctx,bin,src); if err!=nil{t.Fatal(err)}
 d,err:=state.For(h); if err!=nil{t.Fatal(err)}
 if err:=d.Make(h);err!=nil{t.Fatal(err)}
 s:=Store{bin,d,h.Format}
 for _,rev:=range []string{"HEAD~1","HEAD~1","HEAD"} {
 c,err:=h.Repo.Commit(ctx,rev); if err!=nil{t.Fatal(err)}
 t0:=time.Now()
 b,err:=s.Ensure(ctx,h.Repo,c,nil); if err!=nil{t.Fatal(err)}
 t.Log(rev,time.Since(t0),b.Made,len(b.Layers), b.Files)
 for range 5 { t0=time.Now(); if err:=s.Verify(ctx,b);err!=nil{t.Fatal(err)}; t.Log("verify",time.Since(t0)) }
 t0=time.Now(); _,ok,err:=s.Find(ctx,h.Repo,c); t.Log("find",ok,err,time.Since(t0))
 }
}
